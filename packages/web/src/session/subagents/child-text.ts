import { type CallView, type ChildView, escapeLine } from '@holdfast/protocol'

export type ChildStatus = ChildView['status']

const looks: Record<ChildStatus, { readonly word: string; readonly dot: string }> = {
  running: { word: 'running', dot: 'running' },
  waiting: { word: 'needs approval', dot: 'asked' },
  completed: { word: 'done', dot: 'complete' },
  failed: { word: 'failed', dot: 'error' },
  aborted: { word: 'stopped', dot: 'interrupted' },
  interrupted: { word: 'interrupted', dot: 'interrupted' },
  over_budget: { word: 'reached a limit', dot: 'error' },
}

/** Returns the word and the dot of a status. */
export const childLook = (status: ChildStatus) => looks[status]

/** Whether its work goes on, so that it can be stopped. */
export const isAtWork = (status: ChildStatus): boolean => status === 'running' || status === 'waiting'

/** Returns the status of the subagent of a call. Before the subagents are loaded, the call says whether it ended. */
export const statusOfChild = (child: NonNullable<CallView['child']>, view: ChildView | undefined): ChildStatus =>
  view?.status ?? child.outcome ?? 'running'

/** Returns the name of a kind: `subagent`, or `subagent reviewer`. */
export const kindText = (agent: string): string => (agent === 'general' ? 'subagent' : `subagent ${escapeLine(agent)}`)

const results = /^[^\n]*\n<subagent_result [^\n]*>\n([\s\S]*)\n<\/subagent_result>$/

/** Returns what a subagent said last, without the words around it that are for the model. */
export const resultText = (text: string): string => results.exec(text)?.[1] ?? text
