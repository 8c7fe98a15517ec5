import { TurnNumber } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { dropPayer } from './drop-trust.ts'

it('drops the payer of an imported turn or prompt: the file may name the token of anyone', () => {
  const turn = TurnNumber.parse(0)
  const payer = 'tok_000000000000000a'
  expect(dropPayer({ type: 'turn.started', turn, cause: 'prompt', payer })).toEqual({
    type: 'turn.started',
    turn,
    cause: 'prompt',
  })
  const content = [{ type: 'text' as const, text: 'go' }]
  expect(dropPayer({ type: 'prompt.queued', queue: 'follow_up', content, payer })).not.toHaveProperty('payer')
})
