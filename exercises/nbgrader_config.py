"""For teachers with nbgrader: this folder is a course of its own."""

c = get_config()  # nbgrader defines it
c.CourseDirectory.course_id = "autodiff_kit"
