import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createKeyDecoder, type KeyEvent } from './decode-keys.ts'

const decode = (...chunks: readonly string[]): readonly KeyEvent[] => {
  const decoder = createKeyDecoder()
  return [...chunks.flatMap((chunk) => decoder.add(chunk)), ...decoder.flush()]
}
const key = (name: string) => ({ type: 'key', name })

describe('keys', () => {
  it.each([
    ['\r', 'enter'],
    ['\n', 'ctrl+j'],
    ['\t', 'tab'],
    ['\u007f', 'backspace'],
    ['\u0003', 'ctrl+c'],
    ['\u001b', 'esc'],
    ['\u001b\r', 'alt+enter'],
    ['\u001b[13;5u', 'ctrl+enter'],
    ['\u001b[27;5;13~', 'ctrl+enter'],
    ['\u001b[13;2u', 'shift+enter'],
    ['\u001b[Z', 'shift+tab'],
    ['\u001b[A', 'up'],
    ['\u001bOA', 'up'],
    ['\u001b[1;3A', 'alt+up'],
    ['\u001b[5~', 'pageup'],
    ['\u001b[112;5u', 'ctrl+p'],
    ['\u001b[27u', 'esc'],
    ['\u001bb', 'alt+b'],
    ['\u001b\u007f', 'alt+backspace'],
  ])('%j is %s', (sent, name) => {
    expect(decode(sent)).toEqual([key(name)])
  })

  it('are found wherever the terminal cuts what it sends', () => {
    const sent = 'hé👍\u001b[1;3A\u001b[200~a\rb\u001b[201~\u001b[Zx'
    const whole = decode(sent)
    const joined = (events: readonly KeyEvent[]) =>
      events.map((event) => (event.type === 'key' ? `<${event.name}>` : 'text' in event ? event.text : '')).join('')
    fc.assert(
      fc.property(fc.array(fc.nat(sent.length), { maxLength: 6 }), (cuts) => {
        const at = [0, ...cuts.toSorted((one, other) => one - other), sent.length]
        const chunks = at.slice(1).map((end, index) => sent.slice(at[index], end))
        expect(joined(decode(...chunks))).toBe(joined(whole))
      }),
    )
    expect(joined(whole)).toBe('hé👍<alt+up>a\nb<shift+tab>x')
  })

  it('ignores answers of the terminal and broken sequences', () => {
    expect(decode('\u001b[?62;22c', '\u001b[I', 'a')).toEqual([{ type: 'text', text: 'a' }])
  })

  it('are also presses and wheel steps of the mouse, but not its moves and releases', () => {
    expect(decode('\u001b[<0;5;3M\u001b[<0;5;3m\u001b[<64;1;1M\u001b[<65;200;40M\u001b[<35;2;2M')).toEqual([
      { type: 'mouse', action: 'press', row: 2, column: 4 },
      { type: 'mouse', action: 'wheelup', row: 0, column: 0 },
      { type: 'mouse', action: 'wheeldown', row: 39, column: 199 },
    ])
  })

  it('never throws, whatever a terminal sends', () => {
    fc.assert(fc.property(fc.array(fc.string({ unit: 'binary' })), (chunks) => void decode(...chunks)))
  })
})

describe('a paste', () => {
  it('is one event, with line feeds', () => {
    expect(decode('\u001b[200~one\r\ntwo', '\rthree\u001b[20', '1~')).toEqual([
      { type: 'paste', text: 'one\ntwo\nthree', isCut: false },
    ])
  })

  it('is recognized without marks', () => {
    expect(decode('rm -rf x\rrm -rf y\r')).toEqual([{ type: 'paste', text: 'rm -rf x\nrm -rf y\n', isCut: false }])
    expect(decode('hello\r')).toEqual([{ type: 'text', text: 'hello' }, key('enter')])
  })

  it('is cut at 2 MiB', () => {
    const [event] = decode('\u001b[200~', 'x'.repeat(3 * 1024 * 1024), '\u001b[201~')
    expect(event).toMatchObject({ type: 'paste', isCut: true })
    expect(event?.type === 'paste' && event.text.length).toBe(2 * 1024 * 1024)
  })
})
