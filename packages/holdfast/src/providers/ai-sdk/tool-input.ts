import { limits } from '@holdfast/protocol'

type Args = { readonly [key: string]: unknown }
type ToolInput = { readonly args: Args; readonly malformed?: string }

/** How many more values the calls of an answer may have. */
export type ValueBudget = { valuesLeft: number }

export const createValueBudget = (): ValueBudget => ({ valuesLeft: limits.answerArgsValuesMax })

/** Parses the arguments of a call. Anything but a valid object is `malformed`; nothing is guessed. */
export function parseToolInput(text: string, budget = createValueBudget()): ToolInput {
  if (Buffer.byteLength(text) > limits.callArgsBytesMax)
    return malformed(`the arguments are longer than ${limits.callArgsBytesMax} bytes`)
  if (text.trim() === '') return { args: {} }
  const values = countValues(text, limits.callArgsValuesMax)
  if (values > limits.callArgsValuesMax)
    return malformed(`the arguments have more than ${limits.callArgsValuesMax} values`)
  if (values > budget.valuesLeft)
    return malformed(
      `the calls of this answer have more than ${limits.answerArgsValuesMax} values; ask for fewer at once`,
    )
  budget.valuesLeft -= values

  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return malformed('the arguments are not valid JSON')
  }
  if (!isObject(value)) return malformed('the arguments are not a JSON object')
  if (isDeeperThan(value, limits.jsonDepthMax))
    return malformed(`the arguments are nested deeper than ${limits.jsonDepthMax} levels`)
  return { args: Object.fromEntries(wellFormedEntries(value)) }
}

/** Returns whether parsing left the arguments unchanged. */
export const isAsWritten = (text: string, { args, malformed }: ToolInput): boolean =>
  malformed === undefined && (text.trim() === '' || JSON.stringify(JSON.parse(text)) === JSON.stringify(args))

const malformed = (why: string): ToolInput => ({ args: {}, malformed: why })

const isObject = (value: unknown): value is Args => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Counts the names, values and items of JSON, up to one more than `max`. Counts before parsing, because a value takes much
 * more memory than its text.
 */
function countValues(json: string, max: number): number {
  let values = 0
  let isText = false
  for (let at = 0; at < json.length && values <= max; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) isText = !isText
    else if (isText) at += char === backslash ? 1 : 0
    else if (char === comma || char === colon || char === openList || char === openObject) values++
  }
  return values
}

const [quote, backslash, comma, colon, openList, openObject] = [34, 92, 44, 58, 91, 123]

// Stops at the limit, so that deep nesting cannot overflow the stack.
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1))
}

/** Replaces unpaired surrogates: they cannot be sent as UTF-8, and a service would refuse the whole session. */
const wellFormedEntries = (value: Args): [string, unknown][] =>
  Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)])

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  return isObject(value) ? Object.fromEntries(wellFormedEntries(value)) : value
}
