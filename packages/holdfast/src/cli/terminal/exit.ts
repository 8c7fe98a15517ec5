import type { Fault } from '@holdfast/protocol'

/** What the shell is told. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** How a command ended: it ran, it was refused, or it was not understood. */
export type Ended =
  | { readonly type: 'ended'; readonly code: ExitCode }
  | { readonly type: 'refused'; readonly fault: Fault }
  | { readonly type: 'misused'; readonly message: string }

export const ended = (code: ExitCode = exitCodes.ok): Ended => ({ type: 'ended', code })
export const refused = (fault: Fault): Ended => ({ type: 'refused', fault })
export const misused = (message: string): Ended => ({ type: 'misused', message })
