import type { ModelFault } from '@holdfast/protocol'

/** An error for a log: what it is, what it says and where. Nothing else it carries, which may be a whole request. */
type ErrorFields = {
  readonly type: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  readonly cause?: ErrorFields
}

const causesMax = 4

export function errorFields(error: unknown, depth = 0): ErrorFields {
  if (!(error instanceof Error)) return { type: typeof error, message: textOf(error), ...codeOf(error) }
  const { name, message, stack, cause } = error
  return {
    type: name,
    message,
    ...(stack !== undefined && { stack }),
    ...codeOf(error),
    ...(cause !== undefined && depth < causesMax && { cause: errorFields(cause, depth + 1) }),
  }
}

const codeOf = (error: unknown): { readonly code?: string } =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? { code: error.code }
    : {}

function textOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string')
    return value.message
  try {
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  } catch {
    return 'something that cannot be written down'
  }
}

/** `detail` is what a service sent, with its status and its own id of the request. */
export const faultFields = ({ kind, message, detail }: ModelFault) => ({ kind, reason: message, detail })
