/** A talk in Claude Code's form, two lines a turn. */
export const createLongConversation = (turns: number, id = 'long'): string =>
  Array.from({ length: turns }, (_, turn) => {
    const about = { sessionId: id, cwd: '/work', timestamp: '2026-01-02T03:04:05.000Z' }
    const before = turn === 0 ? null : `a${turn - 1}`
    const prompt = {
      type: 'user',
      uuid: `u${turn}`,
      parentUuid: before,
      message: { role: 'user', content: `q${turn}` },
    }
    const content = [{ type: 'text', text: `r${turn}` }]
    const message = { id: `m${turn}`, role: 'assistant', model: 'claude-x', content }
    const answer = { type: 'assistant', uuid: `a${turn}`, parentUuid: `u${turn}`, message }
    return `${JSON.stringify({ ...about, ...prompt })}\n${JSON.stringify({ ...about, ...answer })}\n`
  }).join('')
