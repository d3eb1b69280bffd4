"""What an assertion can ask. Built-in types register exactly as a user's do."""
