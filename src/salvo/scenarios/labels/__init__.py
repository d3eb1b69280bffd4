"""People's labels of judged runs: what is asked, which runs are drawn, where labels are kept, what they show."""
