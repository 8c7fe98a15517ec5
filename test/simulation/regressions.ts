import { limits } from '@holdfast/protocol'
import { finish, overload } from './model/action/agent.ts'
import { attach } from './model/action/attach.ts'
import { crash, dieOver, unload, wait } from './model/action/crash.ts'
import { ask, retry } from './model/action/send-command.ts'
import { sumUp } from './model/action/summaries.ts'
import { switchSession } from './model/action/switch-session.ts'
import { respond } from './model/family/approvals.ts'
import { compact, setSummary, summarize } from './model/family/context.ts'
import { handOver } from './model/family/driver.ts'
import { fork } from './model/family/forks.ts'
import { branchAt, rewind, seedMessages, setHistory, switchTo, truncate } from './model/family/lines.ts'
import { toggleAll, toggleCollapse, togglePin } from './model/family/marks.ts'
import { setModel, setThinking } from './model/family/models.ts'
import { queueFollowUp, sendPrompt } from './model/family/prompts.ts'
import { recallQueues, reorderQueue } from './model/family/queues.ts'
import { setTrust } from './model/family/trust.ts'
import { abort, goOn, keepPlan } from './model/family/turns.ts'
import { type Action, concurrently, type Move } from './model/model-run.ts'

/**
 * Runs that found a bug, by the bug, as the model-based suite printed them. They are saved as code, because the run of a
 * seed changes with every new command. They are part of every run.
 */
export const regressionRuns: Readonly<Record<string, readonly (Move | Action)[]>> = {
  'an unattached client could hand over control without a driver': [ask('ann', handOver('ann'))],
  'a late answer to an approval that trust had granted was refused as unknown': [
    ask(null, sendPrompt('a')),
    finish('', [{ tool: 'touch', n: 0 }]),
    ask(null, setTrust('touch', 'turn', null)),
    ask(null, respond('reject', 'decided')),
  ],
  'a second approval that one answer had granted too was unknown afterwards': [
    ask(null, sendPrompt('a')),
    finish('', [
      { tool: 'touch', n: 1 },
      { tool: 'touch', n: 0 },
    ]),
    ask('ann', respond('approve_turn', 'oldest')),
    ask('bob', respond('approve', 'decided', 1)),
  ],
  'an abort sent twice concurrently stops one turn, once': [
    ask(null, sendPrompt('a')),
    concurrently(ask(null, abort), retry('same', 0)),
    ask(null, sendPrompt('b')),
    retry('same', 1),
  ],
  'a recall repeated after a crash returns the same prompts': [
    attach('ann'),
    ask('ann', sendPrompt('a')),
    ask('ann', queueFollowUp('b')),
    ask('ann', sendPrompt('c')),
    dieOver('ann', recallQueues, 'after'),
  ],
  'the queue is full': [
    ask(null, sendPrompt('a')),
    ...Array.from({ length: limits.promptsQueuedMax + 1 }, () => ask(null, queueFollowUp('b'))),
  ],
  'a queue order with a duplicate is refused': [
    ask(null, sendPrompt('a')),
    ask(null, queueFollowUp('b')),
    ask(null, reorderQueue('follow_up', 'twice')),
  ],
  'a thinking level that the model does not support is refused': [
    ask(null, setModel('sim/other')),
    ask(null, setThinking('low')),
  ],
  'an overloaded model is retried, replaced by a fallback, and called first when the turn continues': [
    ask(null, sendPrompt('a')),
    ...[1, 2, 3].flatMap(() => [overload('in a while'), wait('a while')]),
    overload('in a while'),
    overload('in a while'),
    ask(null, queueFollowUp('b')),
    ask(null, abort),
    ask(null, goOn),
    overload('in an hour'),
    overload('in an hour'),
    ask(null, goOn),
    finish('x'),
  ],
  'a crash while waiting for an overloaded model leaves a turn that can be continued': [
    ask(null, sendPrompt('a')),
    overload('in a while'),
    crash('paused'),
    wait('a while'),
    ask(null, goOn),
    overload('in an hour'),
    overload('in a while'),
    crash('killed'),
    wait('a while'),
    ask(null, goOn),
    finish('x'),
  ],
  'the last answer was unknown after a rewind': [ask(null, rewind(0)), ask(null, keepPlan)],
  'a fork of a truncated line counted the hidden messages': [
    ask(null, truncate(1)),
    ask(null, fork(null)),
    switchSession(0),
  ],
  'a concurrent truncate used a position of the replaced history': [
    concurrently(ask(null, setHistory('a turn')), ask(null, truncate(1))),
  ],
  'a fork with the command id of another command threw': [ask(null, sendPrompt('a')), ask(null, fork(null), 0)],
  'a summary was written although its session had been unloaded': [
    ask(null, seedMessages('calls')),
    ask(null, compact),
    unload,
  ],
  'a session was unloaded while a client waited for its summary': [ask(null, summarize), wait('long')],
  'an aborted answer that did not end kept its idle session from being unloaded': [
    ask(null, sendPrompt('a')),
    ask(null, abort),
    wait('long'),
    wait('a while'),
    ask(null, sendPrompt('b')),
  ],
  'toggling all calls expanded them although none was collapsed': [
    ask(null, sendPrompt('a')),
    finish('', [{ tool: 'touch', n: 0 }]),
    ask(null, toggleAll),
    ask(null, toggleCollapse('here', 0)),
    ask(null, toggleAll),
  ],
  'summary, pins and window belong to their line, even after a crash': [
    ask(null, togglePin('here', 1)),
    ask(null, seedMessages('calls')),
    ask(null, compact),
    sumUp(0, 'in sum'),
    ask(null, sendPrompt('a')),
    finish('x'),
    crash('killed'),
    ask(null, branchAt(0)),
    ask(null, sendPrompt('b')),
    finish('y'),
    ask(null, switchTo('kept', 'index', 0)),
    ask(null, sendPrompt('c')),
    finish('x'),
    ask(null, setSummary('in short')),
    unload,
    ask(null, sendPrompt('d')),
  ],
  'the summary of a truncated line returns with the line': [
    ask(null, setSummary('in short')),
    ask(null, truncate(0)),
    ask(null, setHistory('none')),
    ask(null, switchTo('kept', 'name', 1)),
    ask(null, sendPrompt('a')),
  ],
}
