import { commandTypes } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { fieldSchemas, parseTellCommand } from './tell-command.ts'
import { tellCommands } from './tell-help.ts'

describe('parseTellCommand', () => {
  it('reads JSON as JSON and the rest as text', () => {
    expect(parseTellCommand('respondToApproval', ['decision=approve', 'approval=17'])).toEqual({
      type: 'respondToApproval',
      decision: 'approve',
      approval: 17,
    })
    expect(parseTellCommand('sendPrompt', ['content=list a=b'])).toEqual({
      type: 'sendPrompt',
      content: [{ type: 'text', text: 'list a=b' }],
    })
  })

  it.each([
    ['queueFollowUp', ['content=then test'], { content: [{ type: 'text', text: 'then test' }] }],
    ['editQueueEntry', ['entry=5', 'content=42'], { entry: 5, content: [{ type: 'text', text: '42' }] }],
    ['reorderQueue', ['queue=follow_up', 'entries=[6,5]'], { queue: 'follow_up', entries: [6, 5] }],
    [
      'setToolTrust',
      ['tool=1', 'scope=session', `argsHash=${'1'.repeat(64)}`],
      { tool: '1', argsHash: '1'.repeat(64) },
    ],
    ['revokeToolTrust', ['tool=all'], { tool: 'all' }],
    ['enterExec', ['keepPlan=true'], { keepPlan: true }],
    ['recallQueues', [], {}],
    ['handOver', ['client=42'], { client: '42' }],
    ['branchAt', ['turn=0'], { turn: 0 }],
    ['switchBranch', ['branch=branch-1'], { branch: 'branch-1' }],
    ['switchBranch', ['branch=1'], { branch: 1 }],
    ['fork', [], {}],
    ['togglePin', ['message=12'], { message: 12 }],
    ['seedMessages', ['messages=[{"role":"user","content":"42"}]'], { messages: [{ role: 'user', content: '42' }] }],
    ['addSystemMessage', ['text=42', 'level=error'], { text: '42', level: 'error' }],
    ['addSystemMessage', ['text=true'], { text: 'true', level: 'info' }],
    ['appendCheckpoint', ['messages=[{"role":"user","content":"hi"}]', 'tokenCount=9'], { tokenCount: 9 }],
    ['setSummary', ['summary=42'], { summary: '42' }],
    ['truncateHistory', ['keepLast=0'], { keepLast: 0 }],
    ['setHistory', ['messages=[]'], { messages: [] }],
    ['setModel', ['model=demo/agent'], { model: 'demo/agent' }],
    ['setThinkingLevel', ['level=high'], { level: 'high' }],
    ['cycleModel', ['direction=previous'], { direction: 'previous' }],
    ['cycleModel', [], {}],
    ['cycleThinkingLevel', [], {}],
    ['refreshCredentials', [], {}],
  ])('reads %s %j', (name, pairs, fields) => {
    expect(parseTellCommand(name, pairs)).toMatchObject({ type: name, ...fields })
  })

  it('reads a prompt as text even if it looks like JSON', () => {
    for (const text of ['42', 'true', 'null', '{"a":1}'])
      expect(parseTellCommand('sendPrompt', [`content=${text}`])).toMatchObject({ content: [{ text }] })
  })

  it.each([
    [['sendPromt'], "There is no command sendPromt. Did you mean 'sendPrompt'?"],
    [['abrt'], "There is no command abrt. Did you mean 'abort'?"],
    [['sendPrompt'], 'sendPrompt needs content: content=….'],
    [
      ['respondToApproval'],
      'respondToApproval needs decision: decision=approve or decision=approve_turn or decision=approve_session or decision=approve_always or decision=reject or decision=cancel.',
    ],
    [
      ['respondToApproval', 'decision=maybe'],
      'respondToApproval: decision: give approve, approve_turn, approve_session, approve_always, reject or cancel.',
    ],
    [['setToolTrust', 'tool=shell'], 'setToolTrust needs scope: scope=turn or scope=session or scope=workspace.'],
    [['reorderQueue', 'queue=steering', 'entries=5'], expect.stringMatching(/^reorderQueue: entries: /)],
    [['sendPrompt', 'content=[{"type":"text"}]'], expect.stringMatching(/^sendPrompt: content\.0\.text: /)],
    [['sendPrompt', 'contnt=x'], "sendPrompt has no field 'contnt'. Did you mean 'content'?"],
    [['branchAt'], 'branchAt needs turn: turn=….'],
    [['branchAt', 'turn=-1'], expect.stringMatching(/^branchAt: turn: /)],
    [['togglePin', 'message=hello'], expect.stringMatching(/^togglePin: message: /)],
    [['switchBranch', 'branch=../x'], expect.stringMatching(/^switchBranch: branch: a branch name is /)],
    [['switchBranch', 'branch=true'], "switchBranch: branch: give a branch's name, or its index in the list."],
    [['seedMessages', 'messages=[]'], expect.stringMatching(/^seedMessages: messages: /)],
    [['seedMessages', 'messages=[{"role":"robot"}]'], expect.stringMatching(/^seedMessages: messages\.0\.role: /)],
    [['abort', 'now=1'], "abort has no field 'now'. Its fields are turn."],
    [['sendPrompt', 'content'], 'content needs a value: content=….'],
    [['sendPrompt', 'type=abort'], "sendPrompt has no field 'type'. Its fields are content."],
  ])('rejects %j with an explanation', ([name = '', ...pairs], message) => {
    expect(() => parseTellCommand(name, pairs)).toThrow(expect.objectContaining({ name: 'UsageError', message }))
  })
})

describe('tell --help', () => {
  it.each(commandTypes)('lists %s with all its fields', (type) => {
    const [fields] = tellCommands[type]
    expect(Object.keys(fieldSchemas(type)).filter((field) => !fields.includes(`${field}=`))).toEqual([])
  })
})
