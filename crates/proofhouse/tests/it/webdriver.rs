//! WebDriver.
