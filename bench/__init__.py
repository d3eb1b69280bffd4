"""What Salvo costs beside the alternatives, measured side by side in one run and printed as ratios."""
