import type { Fault } from '@holdfast/protocol'

export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** How a command ended: it ran, it failed with a fault, or its arguments were wrong. */
export type CommandResult =
  | { readonly type: 'exit'; readonly code: ExitCode }
  | { readonly type: 'failed'; readonly fault: Fault }
  | { readonly type: 'usage'; readonly message: string }

export const exitWith = (code: ExitCode = exitCodes.ok): CommandResult => ({ type: 'exit', code })
export const failWith = (fault: Fault): CommandResult => ({ type: 'failed', fault })
export const rejectUsage = (message: string): CommandResult => ({ type: 'usage', message })
