import { clip, didYouMean, escapeLine, fault, HoldfastError } from '@holdfast/protocol'

/**
 * Returns the options of a method; none when absent. A program without types may pass anything, so an unknown option is
 * refused with the nearest right name. Refused: bad_request.
 */
export function readOptions<Options extends object>(
  given: Options | undefined,
  known: readonly string[],
): Partial<Options> {
  const options = requireOptions(given)
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return options
  const hint = didYouMean(unknown, known) || ` The options are ${known.join(', ')}.`
  const message = `There is no option "${escapeLine(clip(unknown, 100))}".${hint}`
  throw new HoldfastError(fault('bad_request', message, { option: unknown, known }))
}

/** Returns the options of a method; none when absent. Refuses what is not an object: bad_request. */
export function requireOptions<Options extends object>(given: Options | undefined): Partial<Options> {
  if (given === undefined) return {}
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given
  throw new HoldfastError(fault('bad_request', 'The options must be an object.'))
}

/** Refuses a value that is not a text: bad_request. `what` names it. */
export function requireText(value: unknown, what: string): void {
  if (typeof value !== 'string') throw new HoldfastError(fault('bad_request', `Give ${what} as a text.`))
}
