import { clip, didYouMean, escapeLine, type Fault, fault } from '@holdfast/protocol'
import { findHooksFault } from '../hooks/own-hooks.ts'
import type { OpenOptions } from '../open.ts'

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isText = (value: unknown) => typeof value === 'string'
const isFunction = (value: unknown) => typeof value === 'function'
const hasMethods = (value: unknown, ...names: readonly string[]) =>
  isObject(value) && names.every((name) => isFunction(Reflect.get(value, name)))
const isAboveZero = (value: unknown) => typeof value === 'number' && value > 0

type Rule = readonly [isRight: (value: unknown) => boolean, sentence: string]

/** What each option must be. Null: the part that reads the option checks it. */
const rules: Readonly<Record<keyof OpenOptions, Rule | null>> = {
  store: [(value) => isText(value) || isObject(value), 'must be a store URL, such as sqlite:PATH, or a Store.'],
  blobs: [
    (value) => isText(value) || hasMethods(value, 'open'),
    'must be a Blobs, such as openFileBlobs of holdfast/store returns, or s3://BUCKET/PREFIX.',
  ],
  mirror: [isText, 'must be the path of a directory.'],
  node: [isObject, 'must be an object, such as { url: "http://10.0.0.7:4821" }.'],
  environment: [isObject, 'must be an object of environment variables.'],
  models: [
    (value) => isObject(value) && !Array.isArray(value),
    'must be an object of models by their provider/model name.',
  ],
  tools: null,
  hooks: null,
  idleUnloadMs: [isAboveZero, 'must be a number of milliseconds greater than 0.'],
  retention: [isObject, 'must be an object, such as { days: 90 }.'],
  logger: [(value) => hasMethods(value, 'error', 'warn', 'info', 'debug', 'trace'), 'must be a logger like pino.'],
  onProblem: [isFunction, 'must be a function.'],
  model: null,
  titleModel: null,
  compactionModel: null,
  rotation: null,
  fallbacks: null,
  sandbox: null,
  sandboxNetwork: null,
  caps: null,
}

/** Returns the fault of options that a program without types may give; null if they have the right form. */
export function findOptionFault(options: OpenOptions): Fault | null {
  if (!isObject(options) || Array.isArray(options))
    return fault('bad_request', 'The options of openHoldfast must be an object.')
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(rules, name)) return unknownOption(name)
    const rule = rules[name as keyof OpenOptions] // checked above
    if (value !== undefined && rule !== null && !rule[0](value))
      return fault('bad_request', `The option ${name} ${rule[1]}`, { option: name })
  }
  const { retention, hooks } = options
  if (hooks !== undefined) {
    const refused = findHooksFault(hooks)
    if (refused) return refused
  }
  return retention !== undefined && !isAboveZero(retention.days)
    ? fault('bad_request', 'The option retention.days must be a number greater than 0.', { days: retention.days })
    : null
}

function unknownOption(name: string): Fault {
  const known = Object.keys(rules)
  const hint = didYouMean(name, known) || ` The options are ${known.join(', ')}.`
  return fault('bad_request', `openHoldfast has no option "${escapeLine(clip(name, 100))}".${hint}`, {
    option: name,
    known,
  })
}
