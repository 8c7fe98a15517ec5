/** What a session's model is told apart from messages: the system text, gathered anew for each step. */
export interface Instructions {
  gather(session: {
    readonly workdir: string
    readonly mode: 'exec' | 'plan'
    readonly added: string | null
  }): Promise<string>
}
