interface FormProps extends Omit<React.ComponentProps<"form">, "onSubmit"> {
  /** While this is true, the form is not sent again. */
  isPending: boolean;
  onSubmit: () => void;
}

/** A form that the page sends, and not the browser. */
export function Form({ isPending, onSubmit, ...rest }: FormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isPending) onSubmit();
      }}
      {...rest}
    />
  );
}
