import type { StepId } from '@holdfast/protocol'
import type { ModelPart, SaidPart } from '../ports/provider.ts'
import type { Draft } from '../ports/store.ts'

/** A model's answer while it streams: complete parts, and the last part as far as it has come. */
export interface RunningAnswer {
  readonly step: StepId
  readonly parts: readonly SaidPart[]
  add(part: Exclude<ModelPart, { type: 'end' }>): void
  draft(): Draft | null
}

export function createRunningAnswer(step: StepId): RunningAnswer {
  const said: { part: SaidPart; fragments: string[] | null }[] = []

  const parts = (): readonly SaidPart[] =>
    said.flatMap((slot) => {
      if (!slot) return []
      const { part, fragments } = slot
      return [fragments && part.type !== 'call' ? { ...part, text: fragments.join('') } : part]
    })

  return {
    step,
    get parts() {
      return parts()
    },
    add(piece) {
      if (piece.type === 'said') said[piece.part] = { part: piece.said, fragments: null }
      else if (piece.kind !== 'input') {
        // The input of an unfinished call is shown live but never stored.
        const slot = said[piece.part]
        if (slot?.fragments) slot.fragments.push(piece.text)
        else said[piece.part] = { part: { type: piece.kind, text: '' }, fragments: [piece.text] }
      }
    },
    draft() {
      const spoken = parts().filter(({ type }) => type !== 'call')
      return spoken.length === 0 ? null : { step, parts: spoken }
    },
  }
}
