import { code } from './model.ts'

/** Returns a conversation in Claude Code's form, with answers of different heights. */
export function longConversation(turns: number, workdir: string): Uint8Array {
  const about = { sessionId: 'long', cwd: workdir, timestamp: '2026-01-02T03:04:05.000Z' }
  const lines = Array.from({ length: turns }, (_, turn) => {
    const parentUuid = turn === 0 ? null : `a${turn - 1}`
    const asked = { role: 'user', content: `Question ${turn}` }
    const content = [{ type: 'text', text: answerText(turn) }]
    const said = { id: `m${turn}`, role: 'assistant', model: 'claude-x', content }
    const prompt = { ...about, type: 'user', uuid: `u${turn}`, parentUuid, message: asked }
    const answer = { ...about, type: 'assistant', uuid: `a${turn}`, parentUuid: `u${turn}`, message: said }
    return `${JSON.stringify(prompt)}\n${JSON.stringify(answer)}\n`
  })
  return Buffer.from(lines.join(''))
}

/** Each begins with a line of its own, which a test can wait for. */
function answerText(number: number): string {
  const sentence = `The lamp blinks **${number}** times, see \`lamp-${number}.ts\` and [the log](https://a.test/${number}).`
  const parts = [`Answer ${number}`, ...Array.from({ length: 1 + (number % 4) }, () => sentence)]
  if (number % 3 === 0) parts.push(code(number))
  if (number % 5 === 0) parts.push('- one\n- two\n  1. nested\n- three')
  if (number % 7 === 0) parts.push('| part | cost |\n|:---|---:|\n| bulb | 3 |\n| wire | 4 |')
  return parts.join('\n\n')
}
