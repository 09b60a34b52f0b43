//! The client against servers made by hand, on loopback: what a real server can't be asked to do (fail twice and then
//! answer, hang up, speak HTTP/1). The tests against the real server are those of hindsight-server.

mod agent_loop;
mod calls;
mod connecting;
mod errors;
mod mock;
mod retries;
