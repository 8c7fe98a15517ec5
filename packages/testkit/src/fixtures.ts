/** What tests write down instead of living through it. Browser-safe, so that tests of the page may use it too. */
export { aMessage, aToolCall } from './a-message.ts'
export { aMeta } from './a-meta.ts'
export { aFrame, aRecord, type Given } from './a-record.ts'
export { aView } from './a-view.ts'
