import type { Problem } from "./types";

/** What the API refused or could not do, in its own words: what happened, and what to do about it. */
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
  message: "The server does not answer.",
  hint: "Look whether “byop serve” still runs in its terminal, and start it again if not. Nothing that was stored is lost.",
};

/** Any fault as a problem that can be shown. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  if (error instanceof TypeError) return UNREACHABLE; // what fetch throws where nobody answers
  return {
    code: "page",
    message: "Something went wrong in this page.",
    hint: error instanceof Error ? `Reload it. (${error.message})` : "Reload it.",
  };
}

/** The error in an answer that is none of the good ones. */
export function toApiError(response: Response, body: unknown): ApiError {
  const problem = (body as { error?: Problem } | undefined)?.error;
  const unexplained = {
    code: "unclear",
    message: `The server answered ${response.status}, and did not say why.`,
    hint: "",
  };
  return new ApiError(response.status, problem?.message ? problem : unexplained);
}
