import { describe, expect, it } from 'vitest'
import { createNodeKey, createProofCheck, proveTo } from './node-proof.ts'

const asked = { path: '/call', body: '{"session":"one"}', authorization: 'Bearer anna' }

describe('the proof of a node', () => {
  it('lets in a node that knows the key, once, and shows it who answers', () => {
    const key = createNodeKey()
    const check = createProofCheck('node_b', key)
    const { header, isAnswer } = proveTo('node_b', key, asked)
    const checked = check(header, asked)
    expect(isAnswer(checked?.answer)).toBe(true)
    expect(check(header, asked)).toBeNull()
    expect(isAnswer(undefined)).toBe(false)
    expect(isAnswer(proveTo('node_b', key, asked).header)).toBe(false)
    expect(header).not.toContain(key)
  })

  it.each([
    ['another key', () => proveTo('node_b', createNodeKey(), asked).header, asked],
    ['another node', (key: string) => proveTo('node_c', key, asked).header, asked],
    ['another body', (key: string) => proveTo('node_b', key, asked).header, { ...asked, body: '{}' }],
    ['another route', (key: string) => proveTo('node_b', key, asked).header, { ...asked, path: '/news' }],
    ['another token', (key: string) => proveTo('node_b', key, asked).header, { ...asked, authorization: 'Bearer ben' }],
    ['nothing', () => undefined, asked],
  ])('refuses %s', (_, header, received) => {
    const key = createNodeKey()
    expect(createProofCheck('node_b', key)(header(key), received)).toBeNull()
  })
})
