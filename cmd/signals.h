/*
 * signals.h - what this program does at signals, and did when it was started.
 */
#ifndef MT_SIGNALS_H
#define MT_SIGNALS_H

/* At the very beginning: a write that cannot be done is an error with a message, not a silent end;
 * the end of a child is told, whatever who started us thinks of his own. */
void mt_signals_begin(void);
/* In a child that becomes another program: all of that as it was before. */
void mt_signals_restore(void);

#endif
