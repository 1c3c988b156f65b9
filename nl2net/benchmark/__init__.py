"""Dynamic benchmark: applications, runner, statistics and reports."""
