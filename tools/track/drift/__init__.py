"""Two pins of a project set against each other: what became of symbols, notes, facts and rules."""
