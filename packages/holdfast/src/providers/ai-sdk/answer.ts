import type { ModelPart } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { AnswerTooLongError } from '../services/stream-check.ts'
import type { StreamPart } from './open-stream.ts'
import { createPartMeta, type Meta, type PartKind } from './part-meta.ts'
import { createValueBudget, isAsWritten, parseToolInput } from './tool-input.ts'
import { isToolName, type ToolNames } from './tool-names.ts'
import { findUnknownPart } from './unknown-part.ts'

type ToolCall = Extract<StreamPart, { type: 'tool-call' }>

type AnswerOptions = {
  /** Converts the service's name of a tool to ours. */
  readonly toolName: ToolNames['fromWire']
  /** The model to record with the service's metadata; null if any model may get it back. */
  readonly modelId: string | null
}

export type AnswerReader = ReturnType<typeof createAnswer>

/** The size that each part adds to its text, so that empty parts count too. */
const partChars = 16

/** Assembles the fragments of one streamed answer into numbered parts. */
export function createAnswer({ toolName, modelId }: AnswerOptions) {
  const parts = createOpenParts()
  const partMeta = createPartMeta(modelId)
  /** Blocks of an unknown type: their text is not shown. */
  const unknownBlocks = new Set<string>()
  const callValues = createValueBudget()
  let callCount = 0
  let saidChars = 0
  let partCount = 0

  function count(chars: number, added = 0): void {
    saidChars += chars
    partCount += added
    if (saidChars + partCount * partChars > limits.answerCharsMax)
      throw new AnswerTooLongError('answer', limits.answerCharsMax, 'characters')
  }

  function close(kind: 'text' | 'thinking', id: string, meta?: Meta): readonly ModelPart[] {
    const whole = parts.end(kind, id, meta)
    const spoken = whole.texts.join('')
    // A signature without text is kept: the service wants it back.
    if (spoken === '' && whole.meta === undefined) return []
    const text = kind === 'text' ? spoken.toWellFormed() : spoken
    // The metadata belongs to the original text, so a changed part is recorded without it.
    const given = partMeta.take(kind, text === spoken ? whole.meta : undefined)
    return [{ type: 'said', part: whole.part, said: { type: kind, text, ...given } }]
  }

  function call({ toolCallId, toolName: wire, input, providerMetadata }: ToolCall): readonly ModelPart[] {
    const tool = toolName(wire)
    const whole = parts.end('input', toolCallId, providerMetadata, tool)
    callCount++
    if (whole.texts.length === 0) count(input.length) // it was not streamed
    const parsed = isToolName(wire)
      ? parseToolInput(input, callValues)
      : { args: {}, malformed: 'the name of the tool is invalid' }
    const { meta } = whole
    const given = partMeta.take('input', meta !== undefined && isAsWritten(input, parsed) ? meta : undefined)
    return [{ type: 'said', part: whole.part, said: { type: 'call', tool, ...parsed, ...given } }]
  }

  /** Returns the parts that a fragment adds. Fragments that we do not use are recorded with the next complete part. */
  const take = (fragment: StreamPart): readonly ModelPart[] => {
    if ('delta' in fragment) count(fragment.delta.length)
    else count(0, 1)
    switch (fragment.type) {
      case 'text-start':
      case 'reasoning-start':
        unknownBlocks.delete(fragment.id)
        return grow(parts.begin(kinds[fragment.type], fragment.id), '', fragment.providerMetadata)
      case 'text-delta':
      case 'reasoning-delta':
        if (unknownBlocks.has(fragment.id)) break
        return grow(parts.begin(kinds[fragment.type], fragment.id), fragment.delta, fragment.providerMetadata)
      case 'text-end':
      case 'reasoning-end':
        return close(kinds[fragment.type], fragment.id, fragment.providerMetadata)
      case 'tool-input-start':
        if (fragment.providerExecuted) return []
        return grow(parts.begin('input', fragment.id, toolName(fragment.toolName)), '', fragment.providerMetadata)
      case 'tool-input-delta': {
        const begun = parts.find('input', fragment.id)
        return begun === undefined ? [] : grow(begun, fragment.delta, fragment.providerMetadata)
      }
      case 'tool-call':
        if (!fragment.providerExecuted) return call(fragment)
        break
      case 'error': {
        const value = findUnknownPart(fragment.error)
        if (value === null) return []
        if (value['type'] === 'content_block_start') unknownBlocks.add(String(value['index']))
        const unknown = { type: 'unknown', value }
        partMeta.addExtra(unknown)
        return []
      }
    }
    partMeta.addExtra(fragment)
    return []
  }

  /** Completes unfinished text and thinking at the end of the stream. Unfinished calls are dropped. */
  const takeRest = (): readonly ModelPart[] => {
    const closed = parts.all().flatMap(({ kind, id }) => (kind === 'input' ? [] : close(kind, id)))
    const { meta } = partMeta.take('text', undefined)
    // Extras after the last part get an empty part, which is never sent back.
    return meta === undefined
      ? closed
      : [...closed, { type: 'said', part: parts.next(), said: { type: 'text', text: '', meta } }]
  }

  return { take, takeRest, hasCalls: () => callCount > 0, saidChars: () => saidChars }
}

const kinds = {
  'text-start': 'text',
  'text-delta': 'text',
  'text-end': 'text',
  'reasoning-start': 'thinking',
  'reasoning-delta': 'thinking',
  'reasoning-end': 'thinking',
} as const

type OpenPart = {
  readonly part: number
  readonly kind: PartKind
  readonly id: string
  readonly tool?: string
  /** Its fragments. A string that grows with each of them would be joined much later, character by character. */
  readonly texts: string[]
  meta?: Meta
}

/** The unfinished parts of an answer, with their numbers. */
function createOpenParts() {
  const open = new Map<string, OpenPart>()
  /** The part of the last fragment: the next one is most often of the same. */
  let last: OpenPart | null = null
  let partCount = 0

  // A fragment without a start opens its part too: some services send none.
  function begin(kind: PartKind, id: string, tool?: string): OpenPart {
    if (last?.kind === kind && last.id === id) return last
    const key = `${kind} ${id}`
    const known = open.get(key)
    if (known !== undefined) {
      last = known
      return known
    }
    if (partCount === limits.answerPartsMax) throw new AnswerTooLongError('answer', limits.answerPartsMax, 'parts')
    const begun: OpenPart = { part: partCount++, kind, id, texts: [], ...(tool !== undefined && { tool }) }
    open.set(key, begun)
    last = begun
    return begun
  }

  return {
    begin,
    find: (kind: PartKind, id: string): OpenPart | undefined => open.get(`${kind} ${id}`),
    end(kind: PartKind, id: string, meta: Meta | undefined, tool?: string): OpenPart {
      const whole = begin(kind, id, tool)
      open.delete(`${kind} ${id}`)
      last = null
      addMeta(whole, meta)
      return whole
    },
    all: (): readonly OpenPart[] => [...open.values()],
    /** Returns the number for a part that was never open. */
    next: (): number => partCount++,
  }
}

function grow(to: OpenPart, fragment: string, meta: Meta | undefined): readonly ModelPart[] {
  addMeta(to, meta)
  if (fragment === '') return []
  to.texts.push(fragment)
  const { part, kind, tool } = to
  const delta = { type: 'delta', part, kind, text: fragment } as const
  return [tool === undefined ? delta : { ...delta, tool }]
}

/** Merges metadata by service: it arrives in pieces during the life of a part. */
function addMeta(part: OpenPart, added: Meta | undefined): void {
  if (added === undefined) return
  const known = part.meta ?? {}
  const merge = ([service, values]: [string, unknown]) => [
    service,
    { ...asObject(known[service]), ...asObject(values) },
  ]
  part.meta = { ...known, ...Object.fromEntries(Object.entries(added).map(merge)) }
}

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {})
