//! The families: tables of members that a suite or a command chooses by name. A new member is one file and two lines.

pub mod vary;

pub mod attack;

pub mod target;

pub mod judge;
