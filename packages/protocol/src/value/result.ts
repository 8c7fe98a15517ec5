import { type Fault, HoldfastError } from './fault.ts'

/** Foreseen failures are values; a throw is our bug. */
export type Result<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly fault: Fault }

export const ok = <Value>(value: Value): Result<Value> => ({ ok: true, value })
/** For what is asked to happen and has nothing to say of it. */
export const done: Result<undefined> = ok(undefined)
export const refuse = (fault: Fault): Result<never> => ({ ok: false, fault })

/** The value, or the fault as an exception, for callers who asked through a method. */
export function orThrow<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new HoldfastError(result.fault)
  return result.value
}

/** A broken invariant is our bug, never the caller's: stop before the log learns something false. */
export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation'
}

export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantViolation(message)
}

export function unreachable(value: never): never {
  throw new InvariantViolation(`unhandled case: ${JSON.stringify(value)}`)
}
