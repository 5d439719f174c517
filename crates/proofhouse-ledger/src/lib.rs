//! What an auditor must trust.
