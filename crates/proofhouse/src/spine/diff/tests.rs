//! Tests over whole run directories. Each comparison is made twice, in plan order and by index: they must agree.

mod changes;
mod damage;
mod lab;
mod random;
mod rendered;
