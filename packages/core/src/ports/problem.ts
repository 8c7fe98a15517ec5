/** Something nobody foresaw: where it happened, and what it was. */
export type Problem = { readonly where: string; readonly cause: unknown }

/** Where problems are told. It must not throw: it is called where nobody could catch. */
export type OnProblem = (problem: Problem) => void
