// Reads a network state in YAML and prints the keyfiles of NetworkManager that nmstate
// makes of it, as JSON: {"eth0.nmconnection": "[connection]\n..."}.
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Read};

use nmstate::NetworkState;

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let state: NetworkState = serde_yaml::from_str(&text)?;
    let files: BTreeMap<String, String> = state
        .gen_conf()?
        .remove("NetworkManager")
        .unwrap_or_default()
        .into_iter()
        .collect();
    println!("{}", serde_json::to_string(&files)?);
    Ok(())
}
