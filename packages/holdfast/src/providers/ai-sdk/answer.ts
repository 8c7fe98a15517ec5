import type { ModelPart } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { TooMuchSaid } from '../services/too-much.ts'
import { createOpenParts, grow, type Kind, type Meta } from './open-parts.ts'
import type { StreamPart } from './open-stream.ts'
import { withNote } from './said-by.ts'
import { isAsWritten, parseToolInput } from './tool-input.ts'
import { isToolName, type ToolNames } from './tool-names.ts'
import { unknownPartOf } from './unknown-part.ts'
import { createUnsent } from './unsent.ts'

type ToolCall = Extract<StreamPart, { type: 'tool-call' }>

export type AnswerOptions = {
  /** The name of ours that a service calls a tool by. */
  readonly toolName: ToolNames['fromWire']
  /** The model, if it must be noted with what the service gives; null if any model may have that back. */
  readonly modelId: string | null
}

export type AnswerReader = {
  /** What a fragment of the stream adds. What we have no use for is kept with the part that is whole next. */
  take(fragment: StreamPart): readonly ModelPart[]
  /** Words the service began and never ended, once it said that it is done. Half-written calls are not among them. */
  takeRest(): readonly ModelPart[]
  hasCalls(): boolean
  /** How many characters were said by now, arguments and all. */
  saidChars(): number
}

/** What a part takes up beside its words: one without any is not free. */
const partChars = 64

/** Puts the fragments of one streamed answer together: numbers its parts and says each when it is whole. */
export function createAnswer({ toolName, modelId }: AnswerOptions): AnswerReader {
  const parts = createOpenParts()
  const { keep, noted } = createNotes(modelId)
  /** The blocks that nobody has heard of: what is said in them is not said to anyone. */
  const unknownBlocks = new Set<string>()
  let callCount = 0
  let saidChars = 0
  let partCount = 0

  function count(chars: number): void {
    saidChars += chars
    if (saidChars + partCount * partChars > limits.answerCharsMax) {
      throw new TooMuchSaid('answer', limits.answerCharsMax, 'characters')
    }
  }

  function countPart(): void {
    partCount++
    count(0)
  }

  function keepUnknown(value: { readonly [name: string]: unknown }): void {
    if (value['type'] === 'content_block_start') unknownBlocks.add(String(value['index']))
    const part = { type: 'unknown', value }
    keep(part)
  }

  function close(kind: 'text' | 'thinking', id: string, meta?: Meta): readonly ModelPart[] {
    const whole = parts.end(kind, id, meta)
    // A signature without words must be kept: the service wants it back.
    if (whole.text === '' && whole.meta === undefined) return []
    const text = kind === 'text' ? whole.text.toWellFormed() : whole.text
    const given = noted(kind, text === whole.text ? whole.meta : undefined)
    return [{ type: 'said', part: whole.part, said: { type: kind, text, ...given } }]
  }

  function call({ toolCallId, toolName: wire, input, providerMetadata }: ToolCall): readonly ModelPart[] {
    const tool = toolName(wire)
    const whole = parts.end('input', toolCallId, providerMetadata, tool)
    callCount++
    if (whole.text === '') count(input.length) // it was not written as it came
    const parsed = isToolName(wire) ? parseToolInput(input) : { args: {}, malformed: 'the tool has no usable name' }
    const given = noted('input', isAsWritten(input, parsed) ? whole.meta : undefined)
    return [{ type: 'said', part: whole.part, said: { type: 'call', tool, ...parsed, ...given } }]
  }

  const take = (fragment: StreamPart): readonly ModelPart[] => {
    if ('delta' in fragment) count(fragment.delta.length)
    else countPart()
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
        const unknown = unknownPartOf(fragment.error)
        if (unknown !== null) keepUnknown(unknown)
        return []
      }
    }
    keep(fragment)
    return []
  }

  const takeRest = (): readonly ModelPart[] => {
    const closed = parts.all().flatMap(({ kind, id }) => (kind === 'input' ? [] : close(kind, id)))
    const { meta } = noted('text', undefined)
    // What came after the last part has none to stand on: it gets one without words, which is not sent either.
    return meta === undefined
      ? closed
      : [...closed, { type: 'said', part: parts.next(), said: { type: 'text', text: '', meta } }]
  }

  return { take, takeRest, hasCalls: () => callCount > 0, saidChars: () => saidChars }
}

/** What goes on record with a part: what the service gave with it, and what we note beside. */
function createNotes(modelId: string | null) {
  const unsent = createUnsent()
  return {
    keep: unsent.take,
    // What a service gives with a part belongs to the part as it was: one that had to be changed is kept without it.
    // Of thinking the model is noted in any case: without it, nobody could tell later whose it was.
    noted(kind: Kind, meta: Meta | undefined): { readonly meta?: Meta } {
      const fitting = meta && unsent.fit(meta)
      const isNoted = modelId !== null && (kind === 'thinking' || meta !== undefined)
      const kept = unsent.give()
      const all = withNote(fitting, { ...(isNoted && { model: modelId }), ...(kept.length > 0 && { kept }) })
      return all === undefined ? {} : { meta: all }
    },
  }
}

const kinds = {
  'text-start': 'text',
  'text-delta': 'text',
  'text-end': 'text',
  'reasoning-start': 'thinking',
  'reasoning-delta': 'thinking',
  'reasoning-end': 'thinking',
} as const
