"""Rules between roles: synthesis with evidence, baselines, modes, compression."""
