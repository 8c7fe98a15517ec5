import { type Fault, HoldfastError } from '@holdfast/protocol/fault'

export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The exit code of a command that ran; undefined for 0. A command throws if it fails or its arguments are wrong. */
export type CommandResult = ExitCode | undefined

/** The arguments of a command are wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function failWith(fault: Fault): never {
  throw new HoldfastError(fault)
}

export function rejectUsage(message: string): never {
  throw new UsageError(message)
}
