import { createSession } from '@holdfast/client'
import { commandTypes, type SessionHandle } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'

describe('every command', () => {
  const session = createSession({} as SessionHandle) // building a session uses nothing of its handle

  it.each(commandTypes)('has a method of Session: %s', (type) => {
    expect(session).toHaveProperty(type, expect.any(Function))
  })
})
