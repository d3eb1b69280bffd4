import type { Problem } from "./types";

/** An error response of the API: what happened, and what to do about it. */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: Problem;

  constructor(status: number, problem: Problem) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
  }
}

const UNREACHABLE: Problem = {
  code: "unreachable",
  message: "The server is not responding.",
  hint: "Check that “byop serve” is still running in its terminal, and restart it if not. Stored data is not lost.",
};

/** Replaces the server's message, which is no longer true after the login. */
const NOT_LOGGED_IN: Problem = {
  code: "login_needed",
  message: "The server refused this because you were not logged in.",
  hint: "Try again once you are logged in.",
};

/** Whether the server refused a request because there is no session. The login screen is shown then. */
export function isLoginError(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Convert any error to a problem that can be shown. */
export function toProblem(error: unknown): Problem {
  if (isLoginError(error)) return NOT_LOGGED_IN;
  if (error instanceof ApiError) return error.problem;
  if (error instanceof TypeError) return UNREACHABLE; // thrown by fetch when the server cannot be reached
  return {
    code: "page",
    message: "Something went wrong on this page.",
    hint: error instanceof Error ? `Reload the page. (${error.message})` : "Reload the page.",
  };
}

/** Convert an error response to an ApiError. */
export function toApiError(response: Response, body: unknown): ApiError {
  const problem = (body as { error?: Problem } | undefined)?.error;
  const unexplained = {
    code: "unexplained",
    message: `The server responded with status ${response.status} and no explanation.`,
    hint: "",
  };
  return new ApiError(response.status, problem?.message ? problem : unexplained);
}
