"""Golden cases: typed questions with proven answers, their generators and their comparison."""
