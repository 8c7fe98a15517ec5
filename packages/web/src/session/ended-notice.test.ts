import { expect, it } from 'vitest'
import { endedText } from './ended-notice.tsx'

it('tells a deleted session from one in the trash and from one that stopped', () => {
  const texts = (['session_trashed', 'session_not_found', 'stopped'] as const).map(endedText)
  expect(texts).toEqual([
    'This session is in the trash. It was deleted in another place.',
    'This session was deleted permanently.',
    'This session is no longer followed: it was stopped.',
  ])
})
