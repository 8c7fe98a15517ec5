import { type Fault, HoldfastError } from './fault.ts'

/** Expected failures are values; an exception is a bug. */
export type Result<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly fault: Fault }

/** Returns a result with a value. */
export const ok = <Value>(value: Value): Result<Value> => ({ ok: true, value })
/** Success without a value. */
export const done: Result<undefined> = ok(undefined)
/** Returns a result with a fault. */
export const refuse = (fault: Fault): Result<never> => ({ ok: false, fault })

/** Returns the value, or throws the fault. */
export function orThrow<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new HoldfastError(result.fault)
  return result.value
}

/** A bug in this code, never in the caller's: stop before something false is logged. */
export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation'
}

export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantViolation(message)
}

export function unreachable(value: never): never {
  throw new InvariantViolation(`unhandled case: ${JSON.stringify(value)}`)
}
