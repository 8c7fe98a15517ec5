import type { Retention } from '@holdfast/core'
import type { Blobs, OnProblem, Store } from '@holdfast/core/ports'
import { clip, didYouMean, escapeLine, type Fault, fault } from '@holdfast/protocol'
import { findHooksFault, type OwnHooks } from '../hooks/own-hooks.ts'
import type { NodeOptions } from '../nodes/cluster/cluster-node.ts'
import type { Logger } from '../observe/logging/logger.ts'
import type { CustomModels } from '../providers/models.ts'
import type { ConfigOptions } from '../system/config/read-config.ts'
import type { Environment } from '../system/home.ts'
import type { OwnTools } from '../tools/own/own-tools.ts'

/** The options of `openHoldfast`. An unknown one is refused with the nearest right name. */
export type OpenOptions = ConfigOptions & {
  /**
   * `sqlite:PATH`, `jsonl:DIR`, `postgres://HOST/DATABASE` or `memory:`; by default `HOLDFAST_STORE`, else the user's SQLite file. Or a store of your
   * own, which is closed with Holdfast.
   */
  readonly store?: string | Store | undefined
  /**
   * The files of a store of your own; by default in memory, so that they end with the process. Or `s3://BUCKET/PREFIX`, where
   * a PostgreSQL store keeps new files; by default `HOLDFAST_BLOBS`, else in the database.
   */
  readonly blobs?: Blobs | string | undefined
  /** A directory where each session of the SQLite store is also written to a plain file, within a second. */
  readonly mirror?: string | undefined
  /** How this process takes part in a cluster, which only a PostgreSQL store has: its URL, and the folders it serves. */
  readonly node?: NodeOptions | undefined
  /** The environment variables to read; those of the process by default. */
  readonly environment?: Environment | undefined
  /** The program's own models, by `provider/model` name: any AI SDK model object, or a `Provider`. */
  readonly models?: CustomModels | undefined
  /** The program's own tools, beside the built-in ones: made with `defineTool`, or AI SDK tools by name. */
  readonly tools?: OwnTools | undefined
  /** The program's own hooks, by event: functions that run at certain moments of every session. */
  readonly hooks?: OwnHooks | undefined
  /** How long an idle session without clients stays in memory; 15 minutes by default. */
  readonly idleUnloadMs?: number | undefined
  /** Moves sessions to the trash, once a day, that had no message for this many days. Off by default. */
  readonly retention?: Retention | undefined
  /** A pino logger, or one of that shape, for events of sessions and for errors. None by default. */
  readonly logger?: Logger | undefined
  /** Called with unexpected errors, which are our bugs. Without it and without a logger they become process warnings. */
  readonly onProblem?: OnProblem | undefined
}

/** What the program itself opens the runtime with. */
export type InnerOptions = OpenOptions & {
  /** Set if a session with the default model starts next: local servers are then queried first, if it depends on them. */
  readonly usesDefaultModel?: boolean | undefined
}

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
