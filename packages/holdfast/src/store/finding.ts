export const severities = ['error', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

/** What a check can find. Stable: programs go by it. */
export const findingCodes = [
  'unusable',
  'damaged_file',
  'search',
  'permissions',
  'unfinished_file',
  'kept_aside',
  'foreign_file',
  'torn_tail',
  'catalogue',
  'trash',
  'row',
  'head',
  'missing_log',
  'lineage',
  'lost_records',
  'given_up_records',
  'unfoldable',
  'snapshot',
  'dead_owner',
  'dead_node',
  'missing_blob',
  'damaged_blob',
  'blob_use',
  'unused_blobs',
] as const
export type FindingCode = (typeof findingCodes)[number]

/** One thing that is not as it should be, or that is good to know. */
export type Finding = {
  readonly severity: Severity
  readonly code: FindingCode
  /** A session, a file or a directory. */
  readonly place: string
  readonly what: string
  /** Whether `--repair` mends it. */
  readonly canMend: boolean
  /** What is lost for good, in words: whoever asks for the repair accepts that. Null where nothing is. */
  readonly loss: string | null
}

/** Something that is only good to know needs no mending. */
export const isWrong = ({ severity }: Finding): boolean => severity !== 'info'

export const isSameFinding = (one: Finding, other: Finding): boolean =>
  one.code === other.code && one.place === other.place

type Found = Pick<Finding, 'code' | 'place' | 'what'> & Partial<Pick<Finding, 'canMend' | 'loss'>>
const made =
  (severity: Severity, mendsByDefault: boolean) =>
  ({ canMend = mendsByDefault, loss = null, ...found }: Found): Finding => ({ severity, ...found, canMend, loss })

/** Something is lost or cannot be read. */
export const error = made('error', false)
/** Something is not as it should be, and nothing is lost by it. */
export const warning = made('warning', true)
export const info = made('info', false)
