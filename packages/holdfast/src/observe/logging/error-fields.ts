import type { ModelFault } from '@holdfast/protocol'

/** The fields of an error that are logged. Other properties are left out: they may be a whole request. */
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

/** Returns the log fields of a model fault. `detail` is the service's response with its status and request id. */
export const faultFields = ({ kind, message, detail }: ModelFault) => ({ kind, reason: message, detail })
