"""What a computation graph is made of: below the ops, which are below the engine."""
