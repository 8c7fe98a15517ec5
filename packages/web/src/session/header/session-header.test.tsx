import type { Connection } from '@holdfast/client'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { SessionStatus } from './session-header.tsx'

const drawn = (connection: Connection) =>
  renderToStaticMarkup(createElement(SessionStatus, { connection, dot: 'idle', word: 'Ready' }))

it('shows only the lost connection while the status is unknown', () => {
  for (const lost of [{ state: 'connecting' }, { state: 'waiting', retryMs: 1, fault: null }] as const) {
    expect(drawn(lost)).toContain('connection lost')
    expect(drawn(lost)).not.toContain('Ready')
  }
})

it('shows the status while it is connected', () => {
  expect(drawn({ state: 'live' })).toContain('Ready')
  expect(drawn({ state: 'live' })).not.toContain('connection lost')
})
