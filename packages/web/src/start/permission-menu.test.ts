import { expect, it } from 'vitest'
import { unruledText } from './permission-menu.tsx'

it('says what a session without rules asks about, as it was chosen', () => {
  expect(unruledText({ approvals: 'destructive', readOnly: false })).toContain('calls that change something ask')
  expect(unruledText({ approvals: 'all', readOnly: false })).toContain('every call asks')
  expect(unruledText({ approvals: 'none', readOnly: false })).toContain('nothing asks')
  expect(unruledText({ approvals: 'destructive', readOnly: true })).toContain('no tools that change')
})
