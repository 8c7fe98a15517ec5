import { describe, expect, it } from 'vitest'
import { createPaint } from '../terminal/output.ts'
import { textTable } from './text-table.ts'

const paint = createPaint(false)
const heading = ['NAME', 'ABOUT']
const rows = [
  ['lamp', 'turns the light of the harbour on and off again'],
  ['/a/path/that/is/long', 'x'],
]
const widthOf = (text: string) => Math.max(...text.split('\n').map((line) => line.length))

describe('a table', () => {
  it('is as wide as its text where it is not shown at a terminal', () => {
    expect(textTable(heading, rows, { paint, columns: null })).toBe(
      [
        'NAME                  ABOUT',
        'lamp                  turns the light of the harbour on and off again',
        '/a/path/that/is/long  x',
        '',
      ].join('\n'),
    )
  })

  it('wraps its widest column at words until it fits the terminal', () => {
    expect(textTable(heading, rows, { paint, columns: 50 })).toBe(
      [
        'NAME                  ABOUT',
        'lamp                  turns the light of the',
        '                      harbour on and off again',
        '/a/path/that/is/long  x',
        '',
      ].join('\n'),
    )
  })

  it('counts columns, not characters, and breaks the first column last', () => {
    const wide = [['calm-harbor-12', '日本語のとても長いタイトル', 'idle', 'demo/agent']]
    const text = textTable(['HANDLE', 'TITLE', 'STATUS', 'MODEL'], wide, { paint, columns: 50 })
    expect(text.split('\n').slice(0, 3)).toEqual([
      'HANDLE          TITLE           STATUS  MODEL',
      'calm-harbor-12  日本語のとても  idle    demo/agent',
      '                長いタイトル',
    ])
  })

  it('shows each row as a block where its columns would be too narrow to read', () => {
    const sessions = [
      ['calm-harbor-12', 'list the files of the harbour', 'idle', '3m', '4', 'demo/agent'],
      ['kind-gull-7', 'x', 'idle', '2w', '10', 'demo/agent'],
    ]
    const text = textTable(['HANDLE', 'TITLE', 'STATUS', 'AGE', 'MESSAGES', 'MODEL'], sessions, { paint, columns: 40 })
    expect(text.split('\n')).toEqual([
      'HANDLE',
      'calm-harbor-12',
      '  TITLE list the files of the harbour',
      '  STATUS idle  AGE 3m  MESSAGES 4',
      '  MODEL demo/agent',
      'kind-gull-7',
      '  TITLE x  STATUS idle  AGE 2w',
      '  MESSAGES 10  MODEL demo/agent',
      '',
    ])
  })

  it('breaks a long name after a mark in it', () => {
    const models = [['1', 'anthropic/claude-sonnet-4-5']]
    const text = textTable(['N', 'MODEL'], models, { paint, columns: 22 })
    expect(text.split('\n').slice(1, 3)).toEqual(['1  anthropic/claude-', '   sonnet-4-5'])
  })

  it.each([40, 34, 28])('fits %i columns, breaking words that are longer than their column', (columns) => {
    const text = textTable(heading, rows, { paint, columns })
    expect(widthOf(text)).toBeLessThanOrEqual(columns)
    expect(text.replaceAll(/\s/g, '')).toContain('turnsthelight')
  })
})
