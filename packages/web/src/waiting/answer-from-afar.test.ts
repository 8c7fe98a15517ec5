import { ApprovalId, type CommandInput, fault, ok, refuse, type SessionHandle } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { answerFromAfar } from './answer-from-afar.ts'

const answer = { type: 'respondToApproval', approval: ApprovalId.parse(3), decision: 'approve' } as const
const done = ok({ seq: 9, result: {} })

/** A session that `driver` drives, and what was asked of it. */
function openSession(driver: string | null, claim = done as unknown) {
  const asked: string[] = []
  const handle = {
    async submit({ type }: CommandInput) {
      asked.push(type)
      return driver === null ? done : refuse(fault('not_driver', `${driver} drives this session.`, { driver }))
    },
    async attach({ client }: { client: string }) {
      asked.push(`attach ${client}`)
      return ok({
        async submit({ type }: CommandInput) {
          asked.push(`seat ${type}`)
          return type === 'claimDriver' ? claim : done
        },
        detach: async () => void asked.push('detach'),
      })
    },
  } as unknown as SessionHandle // only what is used here
  return { handle, asked }
}

it('answers at once where nobody has control', async () => {
  const { handle, asked } = openSession(null)
  expect(await answerFromAfar(handle, 'me', answer)).toBe(null)
  expect(asked).toEqual(['respondToApproval'])
})

it('borrows control for the answer, and gives it back', async () => {
  const { handle, asked } = openSession('other-tab')
  expect(await answerFromAfar(handle, 'me', answer)).toBe(null)
  expect(asked).toEqual([
    ...['respondToApproval', 'attach me', 'seat claimDriver', 'seat respondToApproval', 'seat handOver', 'detach'],
  ])
})

it('does not ask for control with a token that may not answer', async () => {
  const { handle, asked } = openSession(null)
  const refused = refuse(fault('not_driver', 'This token may only read.', { needs: 'driver', role: 'viewer' }))
  const submit = async () => refused
  expect(await answerFromAfar({ ...handle, submit }, 'me', answer)).toBe(refused.fault)
  expect(asked).toEqual([])
})

it('says why if control cannot be had, and leaves', async () => {
  const taken = refuse(fault('driver_taken', 'Only an admin may take over.'))
  const { handle, asked } = openSession('someone-else', taken)
  expect(await answerFromAfar(handle, 'me', answer)).toMatchObject({ code: 'driver_taken' })
  expect(asked.slice(-2)).toEqual(['seat claimDriver', 'detach'])
})
