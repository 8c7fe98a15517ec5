import { type Fault, fault, HoldfastError } from '@holdfast/protocol/fault'

export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The exit code of a command that ran; undefined for 0. A command throws if it fails or its arguments are wrong. */
export type CommandResult = ExitCode | undefined

/** The arguments of a command are wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.message)
    this.fault = fault
  }
}

export function failWith(fault: Fault): never {
  throw new HoldfastError(fault)
}

export function rejectUsage(problem: string | Fault): never {
  throw new UsageError(typeof problem === 'string' ? fault('bad_request', problem) : problem)
}
