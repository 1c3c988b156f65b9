"""What a program's value looks like between the sealed child and the parent: tagged JSON, nothing else."""
