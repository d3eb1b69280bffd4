"""What both products stand on. It knows neither of them."""
