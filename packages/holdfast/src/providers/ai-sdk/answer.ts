import type { ModelPart, SaidPart } from '@holdfast/core/ports'
import type { StreamPart } from './open-stream.ts'
import { withModel } from './said-by.ts'
import { isAsWritten, parseToolInput } from './tool-input.ts'

type Meta = NonNullable<SaidPart['meta']>
type Kind = Extract<ModelPart, { readonly type: 'delta' }>['kind']
type OpenPart = { readonly part: number; readonly kind: Kind; readonly tool?: string; text: string; meta?: Meta }
type ToolCall = Extract<StreamPart, { type: 'tool-call' }>

export type AnswerOptions = {
  /** The name of ours that a service calls a tool by. */
  readonly toolName: (wire: string) => string
  /** The model, if it must be noted with what the service gives; null if any model may have that back. */
  readonly modelId: string | null
}

/** Puts the fragments of one streamed answer together: numbers its parts and says each when it is whole. */
export function createAnswer({ toolName, modelId }: AnswerOptions) {
  const open = new Map<string, OpenPart>()
  let partCount = 0
  let callCount = 0

  // What a service gives with a part belongs to the part as it was: one that had to be changed is kept without it.
  // Of thinking the model is noted in any case: without it, nobody could tell later whose it was.
  const noted = (kind: Kind, meta: Meta | undefined): { readonly meta?: Meta } => {
    const isNoted = modelId !== null && (kind === 'thinking' || meta !== undefined)
    const kept = isNoted ? withModel(meta, modelId) : meta
    return kept === undefined ? {} : { meta: kept }
  }

  // A fragment whose start we never saw opens its part all the same: a sloppy service loses no words.
  function partOf(kind: Kind, id: string, tool?: string): OpenPart {
    const key = `${kind} ${id}`
    const known = open.get(key)
    if (known !== undefined) return known
    const begun: OpenPart = { part: partCount++, kind, text: '', ...(tool !== undefined && { tool }) }
    open.set(key, begun)
    return begun
  }

  function grow(to: OpenPart, fragment: string, meta: Meta | undefined): readonly ModelPart[] {
    to.text += fragment
    keepMeta(to, meta)
    if (fragment === '') return []
    return [
      { type: 'delta', part: to.part, kind: to.kind, text: fragment, ...(to.tool !== undefined && { tool: to.tool }) },
    ]
  }

  function close(kind: 'text' | 'thinking', id: string, meta: Meta | undefined): readonly ModelPart[] {
    const whole = partOf(kind, id)
    open.delete(`${kind} ${id}`)
    keepMeta(whole, meta)
    // A signature without words must be kept: the service wants it back.
    if (whole.text === '' && whole.meta === undefined) return []
    const text = kind === 'text' ? whole.text.toWellFormed() : whole.text
    const given = noted(kind, text === whole.text ? whole.meta : undefined)
    return [{ type: 'said', part: whole.part, said: { type: kind, text, ...given } }]
  }

  function call({ toolCallId, toolName: wire, input, providerMetadata }: ToolCall): readonly ModelPart[] {
    const tool = toolName(wire)
    const whole = partOf('input', toolCallId, tool)
    open.delete(`input ${toolCallId}`)
    keepMeta(whole, providerMetadata)
    callCount++
    const parsed = parseToolInput(input)
    const given = noted('input', isAsWritten(input, parsed) ? whole.meta : undefined)
    return [{ type: 'said', part: whole.part, said: { type: 'call', tool, ...parsed, ...given } }]
  }

  return {
    /** What a fragment of the stream adds. Kinds of fragment we have no use for add nothing. */
    take(fragment: StreamPart): readonly ModelPart[] {
      switch (fragment.type) {
        case 'text-start':
          return grow(partOf('text', fragment.id), '', fragment.providerMetadata)
        case 'text-delta':
          return grow(partOf('text', fragment.id), fragment.delta, fragment.providerMetadata)
        case 'text-end':
          return close('text', fragment.id, fragment.providerMetadata)
        case 'reasoning-start':
          return grow(partOf('thinking', fragment.id), '', fragment.providerMetadata)
        case 'reasoning-delta':
          return grow(partOf('thinking', fragment.id), fragment.delta, fragment.providerMetadata)
        case 'reasoning-end':
          return close('thinking', fragment.id, fragment.providerMetadata)
        case 'tool-input-start':
          if (fragment.providerExecuted) return []
          return grow(partOf('input', fragment.id, toolName(fragment.toolName)), '', fragment.providerMetadata)
        case 'tool-input-delta': {
          const begun = open.get(`input ${fragment.id}`)
          return begun === undefined ? [] : grow(begun, fragment.delta, fragment.providerMetadata)
        }
        case 'tool-call':
          return fragment.providerExecuted ? [] : call(fragment)
        default:
          return []
      }
    },

    /** Words the service began and never ended, once it said that it is done. Half-written calls are not among them. */
    takeRest: (): readonly ModelPart[] =>
      [...open].flatMap(([key, { kind }]) =>
        kind === 'input' ? [] : close(kind, key.slice(kind.length + 1), undefined),
      ),

    hasCalls: () => callCount > 0,
  }
}

/** Metadata comes in pieces over the life of a part, by service; later pieces add to earlier ones. */
function keepMeta(part: OpenPart, added: Meta | undefined): void {
  if (added === undefined) return
  const kept = part.meta ?? {}
  const merged = Object.entries(added).map(([service, values]) => [
    service,
    { ...asObject(kept[service]), ...asObject(values) },
  ])
  part.meta = { ...kept, ...Object.fromEntries(merged) }
}

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {})
