import type { ModelPart, SaidPart } from '@holdfast/core/ports'

export type Meta = NonNullable<SaidPart['meta']>
export type PartKind = Extract<ModelPart, { readonly type: 'delta' }>['kind']

/** Our own key beside those of the services. */
const ownName = 'holdfast'

/** How much extra data of one answer is recorded; the rest is only counted. */
const extraCharsMax = 64 * 1024
/** How much opaque data a service may attach to the parts of one answer: signatures, encrypted thinking. */
const opaqueCharsMax = 1024 * 1024

type Extra = { readonly type: string; readonly [key: string]: unknown }

/** Fragments that are not part of the answer, or that are collected elsewhere. */
const ignoredTypes = /^(stream-start|response-metadata|raw|ping|finish|error|tool-input-(start|delta|end))$/

/** Collects the metadata to record with each part: what the service attached, and data that is never sent back. */
export function createPartMeta(modelId: string | null) {
  let extras: Extra[] = []
  let omitted = 0
  const charsLeft = { extra: extraCharsMax, opaque: opaqueCharsMax }

  function reserve(json: string | undefined, kind: keyof typeof charsLeft): json is string {
    const fits = json !== undefined && json.length <= charsLeft[kind]
    if (fits) charsLeft[kind] -= json.length
    else omitted++
    return fits
  }

  // The data that services want back is text; lists and objects can be of any length.
  const fits = ([, value]: [string, unknown]) => reserve(toJson(value), typeof value === 'string' ? 'opaque' : 'extra')
  const limitFields = (values: object) => Object.fromEntries(Object.entries(values).filter(fits))

  return {
    /** Records a fragment that we do not use: sources, files, results of the service's own tools, unknown parts. */
    addExtra(part: { readonly type: string }): void {
      if (ignoredTypes.test(part.type) || isMessageStart(part)) return
      const json = toJson(part)
      if (reserve(json, 'extra')) extras.push(JSON.parse(json))
    },

    /** Returns the metadata of a complete part, with the extras since the last one. Thinking always names its model. */
    take(kind: PartKind, meta: Meta | undefined): { readonly meta?: Meta } {
      // `addMeta` made the values objects.
      const services = Object.entries(meta ?? {}).map(([service, values]) => [service, limitFields(values as object)])
      const limited = meta && Object.fromEntries(services)
      const kept = omitted === 0 ? extras : [...extras, { type: 'omitted', count: omitted }]
      extras = []
      omitted = 0
      const isModelNeeded = modelId !== null && (kind === 'thinking' || meta !== undefined)
      const own = { ...(isModelNeeded && { model: modelId }), ...(kept.length > 0 && { kept }) }
      if (Object.keys(own).length > 0) return { meta: { ...limited, [ownName]: own } }
      return limited === undefined ? {} : { meta: limited }
    },
  }
}

/** Returns the service's metadata of a part, and whether `model` wrote the part. Without a note it counts as its own. */
export function readPartMeta(meta: Meta | undefined, model: string): { given: Meta | undefined; isOwn: boolean } {
  if (meta === undefined) return { given: undefined, isOwn: true }
  const { [ownName]: own, ...given } = meta
  const isOther = typeof own === 'object' && own !== null && 'model' in own && own.model !== model
  return { given: Object.keys(given).length > 0 ? given : undefined, isOwn: !isOther }
}

/** Anthropic's library repeats the start of each answer as a part. */
const isMessageStart = (part: { readonly type: string }): boolean =>
  part.type === 'custom' && 'kind' in part && String(part.kind).endsWith('.message_start')

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, bytesToBase64)
  } catch {
    return undefined // circular, or not representable
  }
}

function bytesToBase64(this: { readonly [key: string]: unknown }, key: string, value: unknown): unknown {
  const own = this[key]
  return own instanceof Uint8Array ? Buffer.from(own).toString('base64') : value
}
